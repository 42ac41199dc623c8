export const options = { vus: '5', duration: '1s' };
export default function () {}
