/** The place that the address names: `#/PAGE/ITEM?NAME=VALUE`. A page that is not known is the first one. Pure. */

/** Pages of the console; the first one is shown where the address names none. */
export const pageIds = ['trade', 'orders', 'strategies', 'results', 'risk', 'system'] as const

/** One of the pages. */
export type PageId = (typeof pageIds)[number]

/** Where the page is. */
export interface Place {
  readonly page: PageId
  /** The subject that the page shows, as the market of Trade; absent: the page chooses. */
  readonly item?: string
  /** Filters and other choices, by their names. */
  readonly query: Readonly<Record<string, string>>
}

/** Reads the part of an address behind its `#`, with or without that sign. */
export function placeOf(hash: string): Place {
  const [, path = '', search = ''] = /^#?([^?]*)\??(.*)$/s.exec(hash) ?? []
  const [, name = '', item = ''] = path.split('/')
  const page = pageIds.find((id) => id === name) ?? pageIds[0]
  const query = Object.fromEntries(new URLSearchParams(search))
  return item === '' ? { page, query } : { page, item: decoded(item), query }
}

/** Decodes a part of an address; a part that was typed and is no code of a text stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A place without the choices that it leaves to the page. */
export type Named = Partial<Place> & { readonly page: PageId }

/** The address of a place, with its `#`. */
export function addressOf({ page, item, query = {} }: Named): string {
  const search = new URLSearchParams(query).toString()
  return `#/${page}${item === undefined ? '' : `/${encodeURIComponent(item)}`}${search === '' ? '' : `?${search}`}`
}
