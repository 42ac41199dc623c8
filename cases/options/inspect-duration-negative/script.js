export const options = { duration: '-5s' };
export default function () {}
