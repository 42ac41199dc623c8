export const options = { duration: '10s' };
export default function () {}
