/** Why a host or an endpoint could not be reached, from the code of the system, of Node or of OpenSSL, with one remedy for each cause. */

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
  'it does not respond in time',
  'Check that the firewall allows connections to it.',
]

/** Causes of failures before any response, by the codes of the system, of Node and of OpenSSL. */
const causes: readonly CauseRow[] = [
  [
    /^(?:CERT_NOT_YET_VALID|CERT_HAS_EXPIRED)$/,
    'its certificate is out of date, or the clock of this machine is wrong',
    'Check the clock first: timedatectl. If it is right, the host must renew its certificate; configure another host meanwhile.',
  ],
  [
    /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    'its certificate is for another name',
    'Check the address for a typing error; a name server or a proxy may redirect you.',
  ],
  [
    /CERT|^UNABLE_TO_|^INVALID_(?:CA|PURPOSE)$|^(?:PATH_LENGTH_EXCEEDED|CRL_|ERROR_IN_CRL_)/,
    'its certificate is not trusted',
    'If your own proxy ends TLS, set its certificate authority: NODE_EXTRA_CA_CERTS=FILE. Otherwise do not use this host: it may be an impostor.',
  ],
  [
    /^(?:EPROTO$|ERR_SSL_|ERR_TLS_)/,
    'it does not support a compatible TLS version',
    'Check scheme and port of the address; a proxy may answer in its place.',
  ],
  [
    /^ENOTFOUND$/,
    'its name cannot be resolved',
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
    'Check the port of the address, and that a server listens there.',
  ],
  [
    /^(?:EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/,
    'there is no network route to it',
    'Check the network of this machine: ip route',
  ],
  [
    /^(?:ECONNRESET|EPIPE)$/,
    'the connection was cut',
    'Retry; if it persists, a firewall cuts the connection.',
  ],
  [
    /^ADDRESS_FORBIDDEN$/,
    'its address is a link-local or metadata address, and perpd connects to none',
    'Check the address, and what its name resolves to: getent hosts NAME',
  ],
  late,
]

/** Gives the cause that a code stands for; undefined for a code that names none. */
export function causeOfCode(code: string): UnreachedCause | undefined {
  const row = causes.find(([codes]) => codes.test(code))
  return row && { text: `${row[1]} (${code})`, remedy: row[2] }
}

/** The cause of a silence that our own limit ended. */
export const lateCause: UnreachedCause = { text: late[1], remedy: late[2] }
