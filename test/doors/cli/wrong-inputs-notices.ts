import type { WrongInputs } from './wrong-inputs-table.ts'

export const notices: WrongInputs = {
  about: 'Notices',
  cases: [
    [2, 'a notice by a handler', `belfry notify --on-failure '{"handler":"h"}'`],
    [2, 'a notice that is a URL', 'belfry notify --on-failure https://example.org/hook'],
    [2, 'a notice that is a text', `belfry notify --on-failure '"https://example.org/hook"'`],
    [2, 'a notice of nothing', `belfry schedule create x --every 1h --handler h --on-park '{}'`],
    [2, 'a notice of two kinds', `belfry queue set mail --on-park '{"http":{"url":"http://h/"},"command":["x"]}'`],
    [2, 'a notice with a wrong address', `belfry notify --on-overdue '{"http":{"url":"hooks/x"}}'`],
    [2, 'a notice of what is never told', `belfry notify --on-success '{"http":{"url":"http://h/"}}'`],
    [2, 'a notice that is taken and given', `belfry notify --on-park '{"command":["x"]}' --unset on-park`],
    [2, 'a page of no notices', 'belfry notices --limit 0'],
    [2, 'a page behind no notice', 'belfry notices --before r-11'],
  ],
}
