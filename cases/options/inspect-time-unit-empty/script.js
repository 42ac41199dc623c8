export const options = { summaryTimeUnit: '' };
export default function () {}
