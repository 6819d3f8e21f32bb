/** The problem with the URL of a store, as a clause after `store`; null when it is valid. */
export function storeUrlProblem(url: string): string | null {
  return isStoreUrl(url) ? null : `is ${JSON.stringify(shownStoreUrl(url))}, which does not name a store`
}

// Two slashes after sqlite: would begin a host name; they are not meant as the root folder.
function isStoreUrl(url: string): boolean {
  return url === 'memory:' || /^postgres(ql)?:\/\//.test(url) || /^sqlite:(?!\/\/[^/])./.test(url)
}

/** The part of an invalid URL that may be shown: of one that may hold a password, only its beginning. */
export function shownStoreUrl(url: string): string {
  return url.startsWith('sqlite:') ? url : url.replace(/^([\w+.-]*:).+$/s, '$1…')
}
