export const options = { rps: 0 };
export default function () {}
