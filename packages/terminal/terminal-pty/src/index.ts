// Public surface of @deepseek-ai/dsh-terminal-pty. Anything added here is public.
export {}
