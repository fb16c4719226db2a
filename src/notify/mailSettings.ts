/** Settings of a sink that writes e-mail. */
import { z } from 'zod'

/** Protection of the connection to a mail server: TLS from the first byte, TLS after a greeting, or none. */
export const mailSecurities = ['tls', 'starttls', 'none'] as const

const address = z
  .string()
  .max(254)
  .regex(/^[^\s@<>,;:"\\()[\]]+@[^\s@<>,;:"\\()[\]]+$/)
const loopback = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/

/** The fields of an e-mail sink beside those of every sink; `passwordFile` is the shape of a file with a secret. */
export function mailFields(passwordFile: z.ZodType<string>) {
  return {
    host: z.string().regex(/^[A-Za-z0-9:.-]{1,253}$/),
    port: z.int().min(1).max(65_535).optional().describe('465 with tls, 587 with starttls, 25 with none'),
    security: z.enum(mailSecurities).default('tls'),
    username: z.string().min(1).max(256).optional(),
    passwordFile: passwordFile.optional(),
    from: address,
    to: z.array(address).min(1).max(20),
  }
}

/** Fields of an e-mail sink that say how its server is reached. */
export interface MailRoute {
  readonly host: string
  readonly security: (typeof mailSecurities)[number]
  readonly username?: string | undefined
  readonly passwordFile?: string | undefined
}

/** Tells whether a route reveals nothing: without TLS it leads to this machine alone, and a name comes with its password or neither is set. */
export function isSafeRoute({ host, security, username, passwordFile }: MailRoute): boolean {
  if (security === 'none' && !loopback.test(host)) return false
  return (username === undefined) === (passwordFile === undefined)
}
