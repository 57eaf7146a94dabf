CREATE TABLE IF NOT EXISTS leaf_alloc (
  biz_tag varchar(128) NOT NULL DEFAULT '',
  max_id bigint NOT NULL DEFAULT 1,
  step int NOT NULL,
  description varchar(256) DEFAULT NULL,
  update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS leaf_retired (
  biz_tag varchar(128) NOT NULL,
  max_id bigint NOT NULL,
  retired_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (biz_tag)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS leaf_worker (
  worker_id int NOT NULL,
  token bigint NOT NULL,
  owner varchar(64) NOT NULL,
  addr varchar(300) NOT NULL,
  until_ms bigint NOT NULL,
  PRIMARY KEY (worker_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS leaf_node (
  id varchar(64) NOT NULL,
  addr varchar(300) NOT NULL,
  http_addr varchar(300) NOT NULL,
  version varchar(255) NOT NULL,
  started_ms bigint NOT NULL,
  seen_ms bigint NOT NULL,
  server varchar(100) NOT NULL DEFAULT '',
  term bigint NOT NULL DEFAULT 0,
  window_ms bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS leaf_meta (
  name varchar(64) NOT NULL,
  value varchar(255) NOT NULL,
  PRIMARY KEY (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS leaf_strict (
  biz_tag varchar(128) NOT NULL,
  is_strict int NOT NULL,
  change_no bigint NOT NULL,
  beat bigint NOT NULL,
  holder bigint NOT NULL,
  addr varchar(300) NOT NULL,
  PRIMARY KEY (biz_tag),
  KEY leaf_strict_holder (holder)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS leaf_strict_node (
  id varchar(64) NOT NULL,
  addr varchar(300) NOT NULL,
  change_no bigint NOT NULL,
  seen_ms bigint NOT NULL,
  PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
