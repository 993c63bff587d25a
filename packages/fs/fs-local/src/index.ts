// Public surface of @deepseek-ai/dsh-fs-local. Anything added here is public.
export {}
