/**
 * The half of the session that this page holds. A cookie goes to every port of the host name; what stands in `sessionStorage`, and what
 * is said on a channel, reaches pages of this origin alone: scheme, name and port. `sessionStorage` is of one tab and survives its reload;
 * another tab asks those that are open.
 */

/** Header of each request, as `guard/browserRules.ts` names it. */
const header = 'x-perpd-page-key'
const storageName = 'perpd page key'
/** The page waits this long for other tabs, ms. */
const answerMs = 400

/** A message between tabs. `begun`: this tab logged in, and the browser's cookie is of that session now. */
type Said = { readonly type: 'ask' } | { readonly type: 'held' | 'begun'; readonly pageKey: string }

/** The page's half of the session, and the other tabs of the same origin. */
export interface PageKey {
  /** Keeps the half of a session that began in this tab, and hands it to the others. */
  begun(pageKey: string): void
  /** Asks the other tabs for theirs; false where none has another one. */
  askTabs(): Promise<boolean>
  /** Forgets it. */
  drop(): void
}

/** Opens the channel. `onBegun`: another tab logged in, and its half is kept here too. */
export function createPageKey(onBegun: () => void): PageKey {
  const channel = new BroadcastChannel('perpd session')
  const say = (said: Said): void => channel.postMessage(said)
  const keep = (pageKey: string): void => sessionStorage.setItem(storageName, pageKey)
  let heard: ((pageKey: string) => void) | undefined

  channel.onmessage = ({ data }: MessageEvent<Said>) => {
    const held = sessionStorage.getItem(storageName)
    if (data.type === 'ask') {
      if (held !== null) say({ type: 'held', pageKey: held })
    } else if (data.type === 'held') {
      if (data.pageKey !== held) heard?.(data.pageKey)
    } else {
      keep(data.pageKey)
      onBegun()
    }
  }

  return {
    begun(pageKey) {
      keep(pageKey)
      say({ type: 'begun', pageKey })
    },
    askTabs: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => end(false), answerMs)
        function end(isHeard: boolean): void {
          clearTimeout(timer)
          heard = undefined
          resolve(isHeard)
        }
        heard = (pageKey) => {
          keep(pageKey)
          end(true)
        }
        say({ type: 'ask' })
      }),
    drop: () => sessionStorage.removeItem(storageName),
  }
}

/** The part of the session that each request of this page carries. */
export function pageKeyHeaders(): Readonly<Record<string, string>> {
  const held = sessionStorage.getItem(storageName)
  return held === null ? {} : { [header]: held }
}

/** Takes the key of a link out of the page's address, so that neither history nor a copied address holds it. */
export function takeLinkKey(): string | undefined {
  const key = new URLSearchParams(location.hash.slice(1)).get('key')
  if (key === null) return undefined
  history.replaceState(null, '', location.pathname + location.search)
  return key
}

/** Waits until somebody looks at the page: a browser may run it ahead of that, and a link is opened, not looked at. */
export async function shown(): Promise<void> {
  const page = document as Document & { readonly prerendering?: boolean }
  if (page.prerendering !== true) return
  await new Promise((resolve) => page.addEventListener('prerenderingchange', resolve, { once: true }))
}
