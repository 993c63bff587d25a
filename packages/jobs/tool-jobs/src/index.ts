// Public surface of @deepseek-ai/dsh-tool-jobs. Anything added here is public.
export {}
