// Public surface of @deepseek-ai/dsh-tool-fs. Anything added here is public.
export {}
