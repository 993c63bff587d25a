// Mounts the page over the static shell of index.html.
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { host } from './state/host.ts'
import './styles.css'

host.start()
const root = document.getElementById('root')
if (root) createRoot(root).render(<App />)
