// Public surface of @deepseek-ai/dsh-read-before-write. Anything added here is public.
export {}
