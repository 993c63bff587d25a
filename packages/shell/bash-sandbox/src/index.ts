// Public surface of @deepseek-ai/dsh-bash-sandbox. Anything added here is public.
export {}
