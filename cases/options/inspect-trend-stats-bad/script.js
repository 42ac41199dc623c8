export const options = { summaryTrendStats: ['avg', 'mode'] };
export default function () {}
