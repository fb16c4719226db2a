/** A bot service over a real socket: keeps updates until a later offset is asked for, and holds polls that have nothing, as Telegram does. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Update {
  readonly update_id: number
  readonly message: object
}

/** The service. */
export interface BotService {
  readonly url: string
  /** Texts that were sent to the chat. */
  readonly said: string[]
  readonly calls: { readonly method: string; readonly body: Record<string, unknown> }[]
  /** What the next calls of a method are answered in the place of the usual. */
  readonly instead: { readonly method: string; readonly status: number; readonly body: string }[]
  /** Polls that wait for an update. */
  readonly polls: (() => void)[]
  /** The service gets a message. */
  write(message: object): void
  /** The newest update stands there once more, as if nobody had said that it was taken; polls that wait are forgotten. */
  again(message: object): void
  /** Of the newest update. */
  newestId(): number
  close(): void
}

/** Starts one. */
export async function startBotService(): Promise<BotService> {
  let updates: Update[] = []
  let nextId = 100
  const said: string[] = []
  const calls: { method: string; body: Record<string, unknown> }[] = []
  const instead: { method: string; status: number; body: string }[] = []
  const polls: (() => void)[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += String(chunk)
    })
    request.on('end', () => {
      const method = request.url?.split('/').at(-1) ?? ''
      const body = JSON.parse(text)
      calls.push({ method, body })
      const at = instead.findIndex((each) => each.method === method)
      if (at >= 0) {
        const [answer] = instead.splice(at, 1)
        response.writeHead(answer?.status ?? 500).end(answer?.body)
        return
      }
      const answer = (result: unknown): void => void response.end(JSON.stringify({ ok: true, result }))
      if (method === 'getMe') return answer({ username: 'perpd_bot' })
      if (method === 'sendMessage') {
        said.push(String(body.text))
        return answer({})
      }
      if (body.offset < 0) {
        updates = updates.slice(body.offset)
        return answer(updates)
      }
      const give = (): void => {
        updates = updates.filter(({ update_id }) => update_id >= body.offset)
        if (updates.length === 0 && body.timeout > 0) polls.push(give)
        else answer(updates.slice(0, body.limit))
      }
      give()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    said,
    calls,
    instead,
    polls,
    write(message) {
      nextId += 1
      updates.push({ update_id: nextId, message })
      for (const give of polls.splice(0)) give()
    },
    again(message) {
      updates = [{ update_id: nextId, message }]
      polls.length = 0
    },
    newestId: () => nextId,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
