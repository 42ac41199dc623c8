export const options = { vus: NaN };
export default function () {}
