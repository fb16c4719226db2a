/** Where the page begins: its state, what keeps it up to date, and what draws it. */
import { h, render } from 'preact'
import { createLiveFeed } from './feed/liveFeed.ts'
import { PageFrame } from './frame/pageFrame.ts'
import { createPageStore } from './store/pageStore.ts'

const place = document.getElementById('page')
if (place === null) throw new Error('index.html has no element "page".')

const store = createPageStore()
const feed = createLiveFeed(store)
render(h(PageFrame, { store, feed }), place)
void feed.begin()
