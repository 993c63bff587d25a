// Public surface of @deepseek-ai/dsh-sandbox-local. Anything added here is public.
export {}
