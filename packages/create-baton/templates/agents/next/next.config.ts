export default {
  poweredByHeader: false,
};
