/** Why a host or an endpoint could not be reached, from the code of the error below, with one remedy for each cause. */
import { UnreachableError } from '../../api/transport/apiErrors.ts'
import { RequestFailed } from '../../api/transport/requestFailed.ts'
import type { BaseError } from '../../base/errors.ts'

/** A cause that an operator can act on. */
export interface UnreachedCause {
  /** Words behind the address, `its certificate is not trusted (CERT_HAS_EXPIRED)`. */
  readonly text: string
  readonly remedy: string
}

/** A row of the table below. */
type CauseRow = readonly [codes: RegExp, text: string, remedy: string]

/** Silence has a code of the system's, or none when our own limit ended the wait. */
const late: CauseRow = [
  /^ETIMEDOUT$/,
  'it does not answer in time',
  'Check that a firewall lets connections out to it.',
]

/** What goes wrong before there is an answer, by the codes of the system, of Node and of OpenSSL. */
const causes: readonly CauseRow[] = [
  [
    /^(?:CERT_NOT_YET_VALID|CERT_HAS_EXPIRED)$/,
    'its certificate is out of date, or the clock of this machine is wrong',
    'Compare the clock first: timedatectl. When it is right, the host must renew its certificate; name another one meanwhile.',
  ],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    'its certificate is of another name',
    'Check the address for a typing error; a name server or a box in between may lead elsewhere.',
  ],
  [
    /CERT|^UNABLE_TO_|^INVALID_(?:CA|PURPOSE)$|^(?:PATH_LENGTH_EXCEEDED|CRL_|ERROR_IN_CRL_)/,
    'its certificate is not trusted',
    'When a box of your own in between opens TLS, name its authority: NODE_EXTRA_CA_CERTS=FILE. Else do not use this host: somebody else may answer.',
  ],
  [
    /^(?:EPROTO$|ERR_SSL_|ERR_TLS_)/,
    'it speaks no TLS that fits',
    'Check scheme and port of the address; a box in between may answer in its place.',
  ],
  [
    /^ENOTFOUND$/,
    'its name is not found',
    'Check the address for a typing error, and the name server: getent hosts NAME',
  ],
  [
    /^(?:EAI_AGAIN|ESERVFAIL|EREFUSED)$/,
    'no name server answers for its name',
    'Check the name server of this machine: /etc/resolv.conf',
  ],
  [
    /^ECONNREFUSED$/,
    'it refuses the connection',
    'Check the port of the address, and that something listens there.',
  ],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
    'no route leads to it',
    'Check the network of this machine: ip route',
  ],
  [
    /^(?:ECONNRESET|EPIPE)$/,
    'the connection was cut',
    'Ask again; when it stays like this, a firewall in between cuts it.',
  ],
  [
    /^ADDRESS_FORBIDDEN$/,
    'its address is a link-local or metadata one, to which perpd does not talk',
    'Check the address, and what its name resolves to: getent hosts NAME',
  ],
  late,
]

/**
 * The cause of a failed request to a host or an endpoint; undefined where its error names none, as for an answer that cannot be used.
 */
export function unreachedCause(error: BaseError): UnreachedCause | undefined {
  const code = codeOf(error)
  const isLate = error instanceof UnreachableError && error.silence === 'timeout'
  const row = isLate ? late : causes.find(([codes]) => code !== undefined && codes.test(code))
  if (row === undefined) return undefined
  const [, text, remedy] = row
  return { text: code === undefined ? text : `${text} (${code})`, remedy }
}

/** The code below a host's silence, or that an endpoint's fault has among its facts. */
function codeOf(error: BaseError): string | undefined {
  if (error instanceof UnreachableError)
    return error.cause instanceof RequestFailed ? error.cause.code : undefined
  const { reason } = error.code === 'RPC_UNANSWERED' ? error.facts : {}
  return typeof reason === 'string' ? reason : undefined
}
