export const options = { summaryTimeUnit: 'm', iterations: 1 };
export default function () {}
