// Public surface of @deepseek-ai/dsh-shell-tool. Anything added here is public.
export {}
