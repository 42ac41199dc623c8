export const options = { get vus() { return 2; }, iterations: 4 };
export default function () {}
