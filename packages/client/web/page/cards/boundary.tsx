// Keeps a view that throws inside its own box.
import { Component, type ReactNode } from 'react'
import { messageOf } from '../api.ts'
import { t } from '../strings.ts'

interface Props {
  readonly children: ReactNode
  /** Offered where there is raw data to show. */
  readonly onRaw?: () => void
}

export class CardBoundary extends Component<Props, { failure: string | undefined }> {
  override state = { failure: undefined as string | undefined }

  static getDerivedStateFromError(error: unknown): { failure: string } {
    return { failure: messageOf(error) }
  }

  override render(): ReactNode {
    const { failure } = this.state
    if (failure === undefined) return this.props.children
    return (
      <div className="flex flex-wrap items-center gap-3 bg-errw px-3 py-2 text-err" role="alert">
        <span className="min-w-0 flex-1 break-words">{t.viewFailed(failure)}</span>
        {this.props.onRaw && (
          <button type="button" className="link" onClick={this.props.onRaw}>
            {t.raw}
          </button>
        )}
        <button type="button" className="link" onClick={() => this.setState({ failure: undefined })}>
          {t.reloadView}
        </button>
      </div>
    )
  }
}
