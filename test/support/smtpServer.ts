/** A mail server over real sockets for tests: SMTP with a greeting, EHLO, STARTTLS, AUTH and DATA, and answers that a test chooses. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'

/** A key and its certificate for `localhost`, PEM, made for a test and of nobody's trust. */
export interface TestCertificate {
  readonly key: string
  readonly cert: string
}

/** Makes a certificate; openssl is part of every machine that builds. */
export function makeCertificate(): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-cert-'))
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
    execFileSync('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What a fake server does. */
export interface SmtpRules {
  readonly security: 'tls' | 'starttls' | 'none'
  readonly certificate: TestCertificate
  /** Its answer to a command, by its first word (`GREETING`, `EHLO`, `AUTH`, `MAIL`, `RCPT`, `DATA`, `END`); undefined: the usual one; `never`: none. */
  readonly answer?: (word: string, line: string) => string | undefined
}

/** A fake server with what it heard. */
export interface SmtpServer {
  readonly port: number
  /** Every line of every client, those of letters too, and whether it came by TLS. */
  readonly heard: { readonly line: string; readonly isSafe: boolean }[]
  readonly letters: string[]
  close(): void
}

const usual: Readonly<Record<string, string>> = {
  GREETING: '220 fake',
  AUTH: '235 ok',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  END: '250 taken',
  QUIT: '221 bye',
  RSET: '250 ok',
}

/** Starts one on a free port of this machine. */
export async function startSmtp({ security, certificate, answer }: SmtpRules): Promise<SmtpServer> {
  const heard: SmtpServer['heard'] = []
  const letters: string[] = []
  const sockets = new Set<Socket>()

  function serve(socket: Socket, isSafe: boolean): void {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    let rest = ''
    let letter: string[] | undefined
    const say = (word: string, line = ''): void => {
      const offered =
        security === 'starttls' && !isSafe ? '250-STARTTLS\r\n250 OK' : '250-AUTH PLAIN\r\n250 OK'
      const said = answer?.(word, line) ?? (word === 'EHLO' ? `250-fake\r\n${offered}` : usual[word])
      if (said !== 'never') socket.write(`${said ?? '500 what?'}\r\n`)
      if (word === 'DATA' && (said ?? '').startsWith('354')) letter = []
    }
    const hear = (bytes: Buffer): void => {
      const lines = `${rest}${bytes}`.split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        heard.push({ line, isSafe })
        if (letter !== undefined) {
          if (line !== '.') letter.push(line)
          else {
            letters.push(letter.join('\n'))
            letter = undefined
            say('END')
          }
          continue
        }
        const word = (line.split(' ')[0] ?? '').toUpperCase()
        if (word === 'STARTTLS' && security === 'starttls') {
          socket.off('data', hear)
          socket.write('220 go on\r\n')
          serve(new TLSSocket(socket, { isServer: true, ...certificate }), true)
          return
        }
        say(word, line)
      }
    }
    socket.on('data', hear)
    // After STARTTLS the client speaks first.
    if (!(isSafe && security === 'starttls')) say('GREETING')
  }

  const server: Server =
    security === 'tls'
      ? createTlsServer({ ...certificate }, (socket) => serve(socket, true))
      : createServer((socket) => serve(socket, false))
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    heard,
    letters,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
