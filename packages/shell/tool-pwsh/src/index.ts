// Public surface of @deepseek-ai/dsh-tool-pwsh. Anything added here is public.
export {}
