// Settings: keys and addresses of model providers, the theme, and what the host says of itself. A key goes in and is never shown again.
import type { HostInfo } from '@deepseek-ai/dsh-server/protocol'
import type { LlmProviderSettings, LlmProviderStatus } from '@deepseek-ai/dsh-llm'
import { X } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { useId, useState, type ReactNode } from 'react'
import { call, messageOf } from '../api.ts'
import { host } from '../state/host.ts'
import { t } from '../strings.ts'
import { chooseTheme, currentTheme, type Theme } from '../ui.ts'

interface SettingsProps {
  readonly open: boolean
  readonly info: HostInfo | undefined
  readonly onClose: () => void
}

export function SettingsDialog({ open, info, onClose }: SettingsProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog" aria-describedby={undefined}>
          <div className="flex h-11 flex-none items-center border-b border-line pl-4 pr-2">
            <Dialog.Title className="font-semibold">{t.settings}</Dialog.Title>
            <Dialog.Close className="icon-button ml-auto" aria-label={t.close}>
              <X size={15} />
            </Dialog.Close>
          </div>
          <div className="min-h-0 overflow-y-auto px-4 pb-4">
            {info && info.problems.length > 0 && (
              <Section title={t.problems}>
                {info.problems.map(({ row, message }) => (
                  <div key={row} className="mb-1 break-words rounded-control bg-errw px-2 py-1">
                    <span className="font-mono text-mono text-err">{row}</span> {message}
                  </div>
                ))}
              </Section>
            )}
            <Section title={t.providers}>
              {info?.providers.map((status) => (
                <Provider key={status.provider} status={status} />
              ))}
            </Section>
            <Section title={t.theme}>
              <ThemeChoice />
            </Section>
            {info && (
              <Section title={t.about}>
                <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
                  <Fact name={t.version} value={info.version} />
                  <Fact name={t.folder} value={info.cwd} />
                  <Fact name={t.home} value={info.home} />
                </dl>
              </Section>
            )}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="pt-4">
      <h3 className="pb-1.5 text-label text-ink3">{title}</h3>
      {children}
    </section>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="text-ink3">{name}</dt>
      <dd className="break-all font-mono text-mono">{value}</dd>
    </>
  )
}

function ThemeChoice() {
  const [theme, setTheme] = useState(currentTheme)
  const choose = (next: Theme): void => {
    chooseTheme(next)
    setTheme(next)
  }
  return (
    <div className="inline-flex gap-1 rounded-card bg-you p-0.5" role="radiogroup" aria-label={t.theme}>
      {(['light', 'dark', 'system'] as const).map((name) => (
        <button
          key={name}
          type="button"
          role="radio"
          aria-checked={theme === name}
          className={`h-7 rounded-control px-3 pointer-coarse:h-10 ${theme === name ? 'bg-raised font-medium shadow-[0_0_0_1px_var(--line2)]' : 'text-ink2'}`}
          onClick={() => choose(name)}
        >
          {t.themes[name]}
        </button>
      ))}
    </div>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string | undefined
  readonly type?: string
  readonly onChange: (value: string) => void
}

function Field({ label, value, placeholder, type = 'text', onChange }: FieldProps) {
  const id = useId()
  return (
    <div>
      <label htmlFor={id} className="block pb-0.5 text-meta text-ink2">
        {label}
      </label>
      <input
        id={id}
        className="field font-mono text-mono"
        type={type}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        spellCheck={false}
        value={value}
        placeholder={placeholder}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}

function Provider({ status }: { status: LlmProviderStatus }) {
  const [apiKey, setApiKey] = useState('')
  const [baseURL, setBaseURL] = useState(status.baseURL ?? '')
  const [model, setModel] = useState('')
  const [outcome, setOutcome] = useState<{ ok: boolean; text: string }>()
  const hasKey = status.keySource !== undefined

  async function save(settings: LlmProviderSettings): Promise<void> {
    setOutcome(undefined)
    try {
      const info = await call('providers.configure', { provider: status.provider, settings })
      host.apply({ kind: 'info', info })
      setApiKey('')
      setOutcome({ ok: true, text: t.saved })
    } catch (error) {
      setOutcome({ ok: false, text: messageOf(error) })
    }
  }
  const changes: LlmProviderSettings = {
    ...(apiKey.trim() === '' ? {} : { apiKey: apiKey.trim() }),
    ...(baseURL.trim() === (status.baseURL ?? '') ? {} : { baseURL: baseURL.trim() === '' ? null : baseURL.trim() }),
    ...(model.trim() === '' ? {} : { model: model.trim() }),
  }
  const changed = Object.keys(changes).length > 0
  return (
    <form
      className="mb-2 rounded-card border border-line p-3"
      data-provider={status.provider}
      onSubmit={(event) => {
        event.preventDefault()
        if (changed) void save(changes)
      }}
    >
      <div className="flex items-baseline gap-2">
        <span className="font-medium">{status.label}</span>
        <span className={`text-meta ${status.configured ? 'text-ok' : 'text-warn'}`}>
          {status.configured ? t.ready : t.notReady}
        </span>
        <span className="ml-auto min-w-0 truncate text-meta text-ink3">
          {hasKey ? t.keyFrom(status.keySource) : ''}
        </span>
      </div>
      {status.remedy && <p className="pt-0.5 text-ink2">{status.remedy}</p>}
      {!status.configurable && <p className="pt-0.5 text-ink3">{status.baseURL ?? t.inProcess}</p>}
      {status.configurable && (
        <div className="grid gap-2 pt-2">
          <Field
            label={t.apiKey}
            type="password"
            value={apiKey}
            placeholder={hasKey ? t.apiKeyKept : t.apiKeyNone}
            onChange={setApiKey}
          />
          <div className="grid grid-cols-2 gap-2 max-[759px]:grid-cols-1">
            <Field label={t.baseURL} value={baseURL} placeholder="https://" onChange={setBaseURL} />
            <Field label={t.model} value={model} placeholder={status.models[0]?.id} onChange={setModel} />
          </div>
          <div className="flex flex-wrap items-center gap-2">
            <button type="submit" className="button button-primary" disabled={!changed}>
              {t.save}
            </button>
            {hasKey && (
              <button type="button" className="button" onClick={() => void save({ apiKey: null })}>
                {t.clearKey}
              </button>
            )}
            <span
              className={`min-w-0 break-words text-meta ${outcome?.ok === false ? 'text-err' : 'text-ok'}`}
              role="status"
            >
              {outcome?.text}
            </span>
          </div>
        </div>
      )}
    </form>
  )
}
