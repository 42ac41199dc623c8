export const options = { summaryTimeUnit: 'm' };
export default function () {}
