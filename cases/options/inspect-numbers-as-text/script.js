export const options = { batch: '10', batchPerHost: 5, maxRedirects: '3', rps: '100' };
export default function () {}
