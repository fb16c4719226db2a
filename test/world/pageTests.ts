/** What tests of the console's page in a real browser begin and end with. */
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, test } from 'vitest'
import { browserPath, launchBrowser } from './consoleBrowser.ts'
import { folderOfEachTest } from './ownFolder.ts'

/** A test that needs a browser: left out on a machine without one. */
export const pageTest = test.runIf(browserPath !== undefined)

/** What each test of a file has to itself. */
export interface OfEachTest {
  /** For the daemon's state. */
  readonly folder: string
  /** The one of the file; its pages, and what they keep, end with the test. */
  readonly browser: Browser
}

/** Gives each test of this file a folder, and pages in one browser with these flags: they end with the test, then every process that was left running. */
export function pageTests(...flags: readonly string[]): OfEachTest {
  const folder = folderOfEachTest()
  let browser: Browser | undefined
  beforeAll(async () => {
    if (browserPath !== undefined) browser = await launchBrowser(...flags)
  })
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close()
  })
  afterAll(async () => {
    await browser?.close()
  })
  return {
    get folder() {
      return folder.path
    },
    get browser() {
      if (browser === undefined) throw new Error('no browser was started')
      return browser
    },
  }
}
