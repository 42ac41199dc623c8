export const options = { duration: '1d2h' };
export default function () {}
