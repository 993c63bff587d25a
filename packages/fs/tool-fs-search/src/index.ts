// Public surface of @deepseek-ai/dsh-tool-fs-search. Anything added here is public.
export {}
