// Public surface of @deepseek-ai/dsh-pwsh-local. Anything added here is public.
export {}
