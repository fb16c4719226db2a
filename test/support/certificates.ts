/** Certificates for tests that speak TLS, made by the machine's openssl. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Whether this machine has openssl. */
export const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** Key and certificate of a server, PEM. */
export interface ServerCertificate {
  readonly key: Buffer
  readonly cert: Buffer
}

const run = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
const key = ['-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'] as const

/** An authority whose files are in a folder, and which no system trusts. */
export interface Authority {
  /** Where its certificate is, for NODE_EXTRA_CA_CERTS. */
  readonly path: string
  /** Makes the certificate of a server, good for so many days from now; of a negative number: out of date. */
  certify(name: string, days: number): ServerCertificate
}

/** Makes an authority. */
export function makeAuthority(folder: string): Authority {
  const at = (name: string) => join(folder, name)
  run(
    ...['req', '-x509', '-keyout', at('ca.key'), '-out', at('ca.pem'), '-subj', '/CN=own CA'],
    ...['-days', '2', ...key],
  )
  return {
    path: at('ca.pem'),
    certify(name, days) {
      run('req', '-keyout', at('key.pem'), '-out', at('ask.csr'), '-subj', '/CN=server', ...key)
      writeFileSync(at('names'), `subjectAltName=DNS:${name}\n`)
      const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-extfile', at('names')]
      run('x509', '-req', '-in', at('ask.csr'), '-out', at('cert.pem'), '-days', String(days), ...signed)
      return { key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')) }
    },
  }
}

/** Makes a certificate that its own key signed. */
export function selfSigned(folder: string, name: string): ServerCertificate {
  const at = (file: string) => join(folder, file)
  run(
    ...[
      'req',
      '-x509',
      '-keyout',
      at('own.key'),
      '-out',
      at('own.pem'),
      '-subj',
      `/CN=${name}`,
      '-days',
      '2',
    ],
    ...['-addext', `subjectAltName=DNS:${name}`, ...key],
  )
  return { key: readFileSync(at('own.key')), cert: readFileSync(at('own.pem')) }
}
