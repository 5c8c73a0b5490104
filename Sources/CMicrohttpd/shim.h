#include <microhttpd.h>
#include <stdbool.h>

// Swift cannot call functions with any number of arguments: each of these does one thing with them.

static inline struct MHD_Daemon *http_start(
    unsigned int flags, uint16_t port, MHD_AccessHandlerCallback handler, void *owner,
    struct MHD_OptionItem *options) {
  return MHD_start_daemon(
      flags, port, NULL, NULL, handler, owner, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// The port that the system has chosen where none was asked for; 0 if that cannot be told.
static inline uint16_t http_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info == NULL ? 0 : info->port;
}

// True where libmicrohttpd knows epoll, which is Linux's.
static inline bool http_has_epoll(void) {
  return MHD_is_feature_supported(MHD_FEATURE_EPOLL) == MHD_YES;
}

// The descriptor that becomes readable when there is something to do, or -1.
static inline int http_epoll(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info == NULL ? -1 : info->epoll_fd;
}

// The socket of a connection, or -1.
static inline int http_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info == NULL ? -1 : info->connect_fd;
}

static inline const struct sockaddr *http_client(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info == NULL ? NULL : info->client_addr;
}
