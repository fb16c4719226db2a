/** Addresses that name several hosts, as those of databases do: `postgres://USER:PASSWORD@ONE:5432,OTHER:5432/NAME`. */

const parts = /^([a-z][a-z0-9+.-]*:\/\/(?:[^\s/?#]*@)?)([^\s/?#@]*,[^\s/?#@]*)(.*)$/is

/** Returns the URL of each host of an address, in the order of the address; empty where the text is no address, or one of its hosts is none. */
export function urlsOf(text: string): readonly URL[] {
  const [, before = '', hosts, after = ''] = parts.exec(text) ?? []
  if (hosts === undefined) {
    const url = URL.parse(text)
    return url === null ? [] : [url]
  }
  const urls = hosts.split(',').map((host) => (host === '' ? null : URL.parse(`${before}${host}${after}`)))
  return urls.every((url) => url !== null) ? urls : []
}
