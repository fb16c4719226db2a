/** Reads the body of a request of the console. */
import type { Context } from 'hono'
import type { z } from 'zod'
import { bodyDigestOf } from '../guard/proof.ts'
import type { Proven } from '../guard/requestGuard.ts'

/** The body when it is JSON of this shape, and the one that was proven where one was; undefined otherwise. */
export async function jsonOf<T>(c: Context<Proven>, shape: z.ZodType<T>): Promise<T | undefined> {
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? '')) return undefined
  try {
    const text = await c.req.text()
    const asked = c.get('asked')
    if (asked !== undefined && bodyDigestOf(text) !== asked.bodyDigest) return undefined
    return shape.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
