/** The console's page: the state of the daemon, kept up to date by its stream. */
import htm from 'htm'
import { h, render } from 'preact'

const html = htm.bind(h)

interface ShownStatus {
  readonly profile: string
  readonly chain: string
  readonly state: string
  readonly tradingState: string
}

const place = document.getElementById('app')

function show(view: ReturnType<typeof html>): void {
  if (place !== null) render(view, place)
}

async function begin(): Promise<void> {
  const session = await fetch('/console/session')
  if (!session.ok) return show(html`<p>No session. For a link: <code>perpd console</code></p>`)
  const stream = new EventSource('/api/stream')
  stream.addEventListener('status', ({ data }: MessageEvent<string>) => {
    const { profile, chain, state, tradingState }: ShownStatus = JSON.parse(data)
    show(html`<p>perpd, profile ${profile} on ${chain}: ${state}, trading ${tradingState}</p>`)
  })
}

begin().catch((error: unknown) => show(html`<p>The daemon does not answer: ${String(error)}</p>`))
