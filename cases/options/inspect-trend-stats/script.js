export const options = { summaryTrendStats: ['avg', 'p(99.99)', 'p(0)', 'count', 'p(100)'] };
export default function () {}
