/** JSON-RPC over HTTP. The fetch is handed in, with its own limit of an answer's size. */
import type { RpcTransport } from './jsonRpc.ts'

/** Sends a request; the client's `Fetch` of `api/transport/nodeFetch.ts` fits. */
export type RpcFetch = (
  url: string,
  init: {
    readonly method: 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly signal: AbortSignal
  },
) => Promise<{ readonly status: number; text(): Promise<string> }>

/** A transport to one address. Rejects for any status but 200: an endpoint's error page is no answer. */
export function createHttpTransport(url: string, fetch: RpcFetch): RpcTransport {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return {
    async send(text, signal) {
      const answer = await fetch(url, { method: 'POST', headers, body: text, signal })
      // JSON-RPC errors come with any status at some endpoints; their bodies are judged like others.
      const body = await answer.text()
      if (answer.status !== 200 && !body.trimStart().startsWith('{')) throw new Error(`HTTP ${answer.status}`)
      return body
    },
    close() {},
  }
}
