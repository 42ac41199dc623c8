export const options = () => ({ vus: 1 });
export default function () {}
