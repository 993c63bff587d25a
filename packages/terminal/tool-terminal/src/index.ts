// Public surface of @deepseek-ai/dsh-tool-terminal. Anything added here is public.
export {}
