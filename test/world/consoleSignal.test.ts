/** The console's page in a real browser: a signal from outside that leads to no order says why, beside its instance. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { type SignalReceiver, signatureOf } from '../../src/control/signalProof.ts'
import { ask, loggedIn, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'

const example = resolve(import.meta.dirname, '..', '..', 'strategies', 'examples', 'eth-signal.yaml')

const here = pageTests()

pageTest(
  'a signal to be flat where nothing is held is shown with its reason, live and after the page is loaded anew',
  { timeout: 300_000 },
  async () => {
    mkdirSync(join(here.folder, 'strategies'))
    const text = readFileSync(example, 'utf8').replace('enabled: false', 'enabled: true')
    writeFileSync(join(here.folder, 'strategies', 'eth-signal.yaml'), text)
    const secretFile = join(here.folder, 'signal.secret')
    const daemon = await servedIn(here.folder, [`--control.signalSecretFile=${secretFile}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'read')
    await toPage(page, 'strategies')
    const row = page.locator('#strategies tbody tr', { hasText: 'eth-signal' })
    await row.waitFor()
    expect(await row.innerText()).not.toContain('signal 1')
    const body = JSON.stringify({ strategy: 'eth-signal', action: 'flat' })
    const secret = new Secret(readFileSync(secretFile, 'utf8').trim())
    const status = await ask(daemon, '/api/status')
    const { profile, account } = (await status.json()) as SignalReceiver
    const stamp = { timestampMs: Date.now(), nonce: 'the-nonce-of-the-page' }
    const answer = await fetch(new URL('/api/signals', daemon.console), {
      method: 'POST',
      body,
      headers: { 'x-perpd-signature': signatureOf(secret, { profile, account }, stamp, Buffer.from(body)) },
    })
    expect(answer.status).toBe(202)
    const told = row.locator('small', { hasText: 'no own position' })
    await told.waitFor()
    expect(await told.innerText()).toMatch(/signal 1\b.*no own position/)
    await page.reload()
    await told.waitFor()
    expect(complaints).toEqual([])
  },
)
