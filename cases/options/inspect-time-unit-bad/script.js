export const options = { summaryTimeUnit: 'hours' };
export default function () {}
