// The first page: the composer in the middle, three prompts that work with any model, one line about the model.
import type { HostInfo } from '@deepseek-ai/dsh-server/protocol'
import type { ModelRef } from '@deepseek-ai/dsh-llm'
import { useState } from 'react'
import { call } from '../api.ts'
import { host } from '../state/host.ts'
import { t } from '../strings.ts'
import { navigate, sessionPath } from '../ui.ts'
import { Composer, type Incoming } from './composer.tsx'
import { writeDraft } from './draft.ts'
import { isOffline, modelName } from './model.tsx'

interface StartProps {
  readonly info: HostInfo | undefined
  readonly offline: boolean
  readonly onSettings: () => void
}

async function startSession(text: string, model: ModelRef | undefined): Promise<void> {
  const session = await call('sessions.create', model ? { model: `${model.provider}/${model.model}` } : {})
  host.apply({ kind: 'session', session })
  try {
    await call('sessions.send', { id: session.id, text })
  } catch (error) {
    writeDraft(session.id, text)
    throw error
  } finally {
    writeDraft(undefined, '')
    navigate(sessionPath(session.id))
    // Whoever has just written goes on writing; the composer of the session exists once React has drawn it.
    setTimeout(() => document.querySelector<HTMLElement>('[data-composer]')?.focus(), 0)
  }
}

export function Start({ info, offline, onSettings }: StartProps) {
  const [chosen, setChosen] = useState<ModelRef>()
  const [incoming, setIncoming] = useState<Incoming>()
  const model = chosen ?? info?.defaultModel
  const provider = info?.providers.find((status) => status.provider === model?.provider)
  return (
    <div className="flex flex-1 flex-col justify-center overflow-y-auto px-6 pb-24 max-[759px]:px-4">
      <div className="mx-auto w-full max-w-[744px]">
        <h1 className="pb-4 text-title font-semibold">{t.emptyTitle}</h1>
        <Composer
          sessionId={undefined}
          info={info}
          model={model}
          running={false}
          stopping={false}
          blocked={offline ? t.sendOffline : undefined}
          incoming={incoming}
          onSend={(text) => startSession(text, chosen)}
          onStop={() => undefined}
          onModel={setChosen}
          onSettings={onSettings}
        />
        <div className="pt-3">
          {t.examples.map((example) => (
            <button
              key={example}
              type="button"
              data-example
              className="row px-2 text-ink2"
              onClick={() => setIncoming({ text: example, replace: true })}
            >
              <span className="min-w-0 truncate">{example}</span>
            </button>
          ))}
        </div>
        {info && model && (
          <p className="px-2 pt-3 text-meta text-ink3">
            {isOffline(info, model) ? (
              <>
                {t.offlineModel}{' '}
                <button type="button" className="link" onClick={onSettings}>
                  {t.addKey}
                </button>
              </>
            ) : (
              t.modelLine(modelName(info, model), provider?.label ?? model.provider)
            )}
          </p>
        )}
      </div>
    </div>
  )
}
