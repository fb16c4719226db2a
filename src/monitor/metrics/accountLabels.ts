/** The series of several accounts as one text: each sample of an account has its name as the label `account`, those of the process have none. */

/** The series of one account in the text format. */
export interface AccountSeries {
  readonly name: string
  readonly text: string
}

/** One series of a text: its comments, and its samples. */
interface Family {
  readonly comments: readonly string[]
  readonly samples: string[]
}

/** Series with this beginning are of accounts and hosts; all others are Node's. */
const ownSeries = 'perpd_'

/**
 * Returns one text for all. The process's text lacks an account, so a sample of it without labels is the zero of a series that accounts have, and is left
 * out; what it counted itself (requests by host, reads by endpoint) has labels.
 */
export function withAccountLabels(processText: string, accounts: readonly AccountSeries[]): string {
  const families = new Map<string, Family>()
  const add = (text: string, change: (sample: string) => readonly string[]): void => {
    for (const [name, { comments, samples }] of familiesOf(text)) {
      const known = families.get(name) ?? { comments, samples: [] }
      known.samples.push(...samples.flatMap(change))
      families.set(name, known)
    }
  }
  add(processText, (sample) => (sample.startsWith(ownSeries) && !/^[\w:]+\{/.test(sample) ? [] : [sample]))
  for (const { name, text } of accounts) add(text, (sample) => [labelled(sample, name)])
  const blocks = [...families.values()].filter(({ samples }) => samples.length > 0)
  return `${blocks.map(({ comments, samples }) => [...comments, ...samples].join('\n')).join('\n\n')}\n`
}

/** The series of a text by name. A line that is no comment is a sample of the series before it. */
function familiesOf(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, { readonly comments: string[]; readonly samples: string[] }>()
  let current: { readonly comments: string[]; readonly samples: string[] } = { comments: [], samples: [] }
  for (const line of text.split('\n')) {
    const [, name] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? []
    if (name !== undefined) {
      current = families.get(name) ?? { comments: [], samples: [] }
      families.set(name, current)
      current.comments.push(line)
    } else if (line !== '') current.samples.push(line)
  }
  return families
}

/** Puts the label before the sample's others; one of that name, which the journal in a database has, gives way to it. */
function labelled(sample: string, account: string): string {
  const [, name = '', labels = '', rest = ''] = /^([\w:]+)(?:\{(.*)\})?( [^}]*)$/.exec(sample) ?? []
  const others = labels.replace(/^account="[^"]*",?/, '')
  return `${name}{account="${account}"${others === '' ? '' : `,${others}`}}${rest}`
}
