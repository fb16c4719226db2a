/** Control routes of the wire faults; no part of the wire. */
import type { Hono } from 'hono'
import { stringify } from '../http/http.ts'
import type { WireFaults } from '../http/wireFaults.ts'
import { givenTo } from './controlGuard.ts'

/** Mounts `/__control/wire` (GET lists, POST adds one or a list, DELETE clears) and `/__control/fault-log`. */
export function mountFaultRoutes(
  app: Hono,
  wire: WireFaults,
  answer: (status: number, text: string) => Response,
): void {
  app.get('/__control/wire', () => answer(200, stringify(wire.rules)))
  app.get('/__control/fault-log', () => answer(200, stringify(wire.log)))
  app.delete('/__control/wire', () => {
    wire.rules.length = 0
    return answer(200, '[]')
  })
  app.post('/__control/wire', async (context) => {
    const body: unknown = await givenTo(context)
    for (const one of Array.isArray(body) ? body : [body]) {
      const rule = wire.add(one)
      if (typeof rule === 'string') return answer(400, stringify({ message: rule }))
    }
    return answer(200, stringify(wire.rules))
  })
}
