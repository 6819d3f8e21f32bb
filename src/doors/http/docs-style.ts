import { createHash } from 'node:crypto'

export const docsStyle = `
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; color: #1d2430; background: #fff; overflow-wrap: anywhere }
.page { display: grid; grid-template-columns: 16rem minmax(0, 1fr); gap: 2.5rem; max-width: 78rem; margin: 0 auto; padding: 0 1rem }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 0; font-size: 14px }
nav ul { list-style: none; margin: 0 0 .8rem; padding: 0 } nav li ul { margin: 0 0 .4rem .8rem } nav summary { font-weight: 600; cursor: pointer; padding: .4rem 0 }
nav a { text-decoration: none } nav a:hover { text-decoration: underline }
main { padding: 1.5rem 0 60vh } h1, h2, h3 { line-height: 1.2 } h2 { margin-top: 3rem; border-bottom: 1px solid #d7dce3 }
h3 { margin: 2rem 0 .3rem; font-size: 1.05rem } section, h2, tr { scroll-margin-top: 4.5rem }
pre { background: #f4f6f8; padding: .7rem 1rem; border-radius: 6px; white-space: pre-wrap }
code { font: 14px/1.45 ui-monospace, monospace } .method { font-weight: 600; color: #0b5cad; margin-right: .5rem } .scope, .type { color: #5b6573 }
table { border-collapse: collapse; width: 100% } td, th { padding: .25rem .8rem .25rem 0; vertical-align: top; text-align: left; border-top: 1px solid #e7eaee }
td:first-child { min-width: 8rem } details.fields summary { cursor: pointer; color: #0b5cad } .type { min-width: 8rem }
a { color: #0b5cad } tr:target, :target > h3 { background: #fff6d6 }
.search { position: sticky; top: 0; background: #fff; padding: .6rem 0; z-index: 1 }
.search input { width: 100%; font: inherit; padding: .5rem .7rem; border: 1px solid #aab3bf; border-radius: 6px; background: inherit; color: inherit }
[hidden] { display: none !important }
@media (max-width: 800px) {
  .page { display: block } nav { position: static; height: auto; padding: 1rem 0 0 } main { padding-top: 0 }
  table, tbody, tr, td { display: block } td { padding: 0; border: 0 } tr { border-top: 1px solid #e7eaee; padding: .4rem 0 } thead { display: none }
}
@media (prefers-color-scheme: dark) {
  body, .search { color: #e4e8ee; background: #14181f } pre { background: #1f2630 } h2, td, th, tr { border-color: #343d4a }
  .method, a, details.fields summary { color: #7ab8ff } .scope, .type { color: #9aa5b4 } tr:target, :target > h3 { background: #3a3314 }
}`

/** Shows the verbs that match every word of the search. It runs in the browser and loads nothing; the content security policy allows only this script. */
export const docsScript = `
const box = document.querySelector('.search'), input = box.querySelector('input'), count = box.querySelector('output')
const verbs = [...document.querySelectorAll('section.verb')].map((section) => [section, section.textContent.toLowerCase()])
const around = [...document.querySelectorAll('.prose')], groups = [...document.querySelectorAll('section.noun')]
const links = new Map([...document.querySelectorAll('nav li[data-verb]')].map((item) => [item.dataset.verb, item]))
const search = () => {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean)
  let found = 0
  for (const [section, text] of verbs) {
    section.hidden = !words.every((word) => text.includes(word))
    links.get(section.id).hidden = section.hidden
    if (!section.hidden) found += 1
    section.querySelector('details')?.toggleAttribute('open', words.length > 0 && found <= 5 && !section.hidden)
  }
  for (const group of groups) {
    group.hidden = !group.querySelector('section.verb:not([hidden])')
    document.querySelector('nav a[href="#' + group.firstElementChild.id + '"]').parentElement.hidden = group.hidden
  }
  for (const part of around) part.hidden = words.length > 0
  count.textContent = words.length === 0 ? '' : found === 1 ? '1 verb' : found + ' verbs'
}
box.hidden = false
input.addEventListener('input', search)
addEventListener('hashchange', () => { if (document.querySelector(':target')?.closest('[hidden]')) { input.value = ''; search(); document.querySelector(':target').scrollIntoView() } })
if (innerWidth <= 800) document.querySelector('nav details').open = false
search()
`

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/** The page loads nothing, and runs only the script that is part of it. */
export const docsPolicy = [
  "default-src 'none'",
  `style-src ${hashOf(docsStyle)}`,
  `script-src ${hashOf(docsScript)}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
